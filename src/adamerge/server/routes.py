"""Every address of the server, and the function that answers it."""

from pathlib import Path

from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from adamerge.server.api import endpoints as api
from adamerge.server.web import files, login, originals, pages, pictures, uploads

STATIC = Path(__file__).parent / "web" / "static"
THEME = ("adamerge.html_file", "web/theme")  # style and script that the inspector shares with us


def routes() -> list[Route | Mount]:
    """Every address of the server."""
    return [
        Route("/", pages.home),
        Route("/page/{id:path}", pages.show_page),
        Route("/picture/{id:path}", pictures.picture),
        Route("/inspect/{id:path}", pictures.inspect),
        Route("/file/{source:path}", originals.original),
        Route("/files", files.show_files),
        Route("/files/remove", files.ask_to_remove, methods=["GET"]),
        Route("/files/remove", files.remove_source, methods=["POST"]),
        Route("/progress", files.progress),
        Route("/add", uploads.add, methods=["GET"]),
        Route("/add", uploads.upload, methods=["POST"]),
        Route("/add/jobs", uploads.list_jobs),
        Route("/add/{job}/remove", uploads.remove_job, methods=["POST"]),
        Route("/docs", pages.docs),
        Route("/login", login.login, methods=["GET"]),
        Route("/login", login.check_login, methods=["POST"]),
        Route("/api/search", api.search),
        Route("/api/pages/{id:path}", api.page),
        Route("/api/store", api.store),
        Route("/api/files", api.files),
        Route("/api/files/{source:path}", api.remove_file, methods=["DELETE"]),
        Route("/api/folder", api.folder),
        Route("/api/index", api.jobs, methods=["GET"]),
        Route("/api/index", api.index, methods=["POST"]),
        Route("/api/index/{job}", api.job, methods=["GET"]),
        Route("/api/index/{job}", api.delete_job, methods=["DELETE"]),
        Route("/api/index/{job}/file", api.job_file),
        Route("/openapi.json", api.description),
        Route("/healthz", api.healthz),
        Route("/metrics", api.metrics),
        Mount("/static", StaticFiles(directory=STATIC, packages=[THEME])),
    ]
