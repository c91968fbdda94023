import os
import re
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from ray_cluster import ray_cluster  # noqa: F401 (a fixture)
from report_store import report_store  # noqa: F401 (a fixture)
from stores import opened, store  # noqa: F401 (fixtures)

import adamerge as am
from adamerge.compress.names import METHODS

os.environ["HF_HUB_OFFLINE"] = "1"  # tests use what is on this machine
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"  # as the command line has it where none looks
# torch's threads wait for each other: on a busy machine, ten times as long
os.environ["OMP_NUM_THREADS"] = "1"

# how long an example takes, or drawing it, says how busy the machine is, and nothing of the program
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# Files whose tests take long begin first, so that no process is left with one of them at the end.
LONG_FIRST = (
    "test_scale.py",
    "test_scale_index.py",
    "test_scale_faults.py",
    "test_paper_run.py",  # of all that needs torch, which one process does
    "test_faults.py",
    "test_upload_faults.py",
    "test_server_hard.py",
    "test_install.py",
    "test_store_writers.py",
    "test_server_uploads.py",
    "test_fuzz.py",
    "test_server_page.py",
)


def pytest_collection_modifyitems(items):
    items.sort(key=place_in_order)  # stable: the rest stays in order


def place_in_order(item):
    if item.path.name in LONG_FIRST:
        return LONG_FIRST.index(item.path.name)
    return len(LONG_FIRST)


# One of every method, and one of every option that is not a default.
EVERY_METHOD = [
    "identity",
    "random:keep=0.3,seed=7",
    "docpruner:k=-0.25",
    "docpruner:k=0.5,stats=plain,importance=density",
    "sem-cluster:m=4",
    "sem-cluster:m=2.5,linkage=condensed,rounding=floor",
    "sem-cluster:m=3,linkage=rows,unit=true",
    "ptm:k=-0.5,m=1.2,stats=plain",
    "ptm:k=none,m=2,rounding=floor",
    "ptm-attn:k=0,m=3,unit=true,importance=density",
    "adamerge",
    "adamerge:k=none,c_min=0.5",
    "adamerge:k=0.25,c_min=0.8,cut=floor",
    "adamerge:k=-0.5,c_min=0.6,sequence=height",
    "adamerge:k=-0.5,c_min=0.6,sequence=running-min,stats=plain",
    "adamerge-mean:k=-0.75,c_min=0.7,unit=true",
    "adamerge:k=0,c_min=0.5,importance=density",
    "height",
    "height:h=0.8,k=0,pool=mean,unit=false,stats=plain",
    "height:h=1.3,k=-0.5,importance=density",
]


def random_page(n, d=16, seed=0, **fields):
    """Patches around n/4 centres, in general position: no two distances are equal."""
    rng = np.random.default_rng([seed, n, d])
    centres = rng.normal(size=(max(1, n // 4), d))
    vectors = centres[rng.integers(len(centres), size=n)] + 0.4 * rng.normal(size=(n, d))
    return am.MultiVector(vectors, rng.gamma(0.5, size=n) + 1e-6, **fields)


@pytest.fixture
def make_page():
    return random_page


@pytest.fixture(params=EVERY_METHOD)
def method(request):
    return am.parse_method(request.param)


@pytest.fixture(autouse=True)
def methods_of_one_test():
    """Methods that a test brings, by a class or by a file of Python, are forgotten after it."""
    known, imported = dict(METHODS), set(sys.modules)
    yield
    METHODS.clear()
    METHODS.update(known)
    for name in set(sys.modules) - imported:
        if name.endswith(".py"):  # a file of a user: import_user_module names it by its path
            del sys.modules[name]


@pytest.fixture
def light_by_name():
    """`load_encoder("light")` and `load_encoder("short")` work in this test, and in none after it."""
    from serving import register  # not every test needs a server

    from adamerge.encoders import spec

    known = dict(spec.KINDS)
    register()
    yield
    spec.KINDS.clear()
    spec.KINDS.update(known)


@pytest.fixture(scope="module")
def chromium():
    from browser import launch  # not every test needs a browser

    with launch() as browser:
        yield browser


@pytest.fixture
def look(chromium, tmp_path):
    """Opens an inspection from disk; every request that would leave is refused and counted."""
    from browser import PATIENCE

    contexts = []

    def open_page(inspection, width=1280, height=900, dark=False):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.leaving, page.wrong = [], []
        page.on(
            "request", lambda r: r.url.startswith(("file:", "data:")) or page.leaving.append(r.url)
        )
        page.route(re.compile("^(?!file:|data:)"), lambda route: route.abort())
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on(
            "console", lambda message: message.type == "error" and page.wrong.append(message.text)
        )
        page.goto(inspection.save(tmp_path / "page.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        assert all(page.leaving == page.wrong == [] for page in context.pages)
        context.close()
