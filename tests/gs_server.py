"""gs:// on this machine: gcp-storage-emulator for what pyarrow asks, with a bucket gs://pages."""

import json
import subprocess
from contextlib import contextmanager

from processes import ended, start_python

# A process of its own: pyarrow holds the lock of the interpreter while it opens a file. A thread for each request:
# pyarrow reads a part of an object while it has the whole open.
EMULATOR = """
import http.server, sys
class Server(http.server.ThreadingHTTPServer):
    def server_activate(self):
        super().server_activate()
        print(self.server_port, flush=True)
http.server.HTTPServer = Server
from gcp_storage_emulator.server import create_server
create_server("127.0.0.1", int(sys.argv[1]), in_memory=True, default_bucket="pages").run()
"""


@contextmanager
def gs_server(port=0):
    """The address of an emulator that is up; at any free port if none is given."""
    process = start_python(
        "-c", EMULATOR, str(port), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with ended(process):
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"


def gs_environment(address, key):
    """How pyarrow reaches it, and Lance the server that the key names."""
    return {
        "CLOUD_STORAGE_EMULATOR_ENDPOINT": address,
        "GOOGLE_APPLICATION_CREDENTIALS": str(key),
        "GOOGLE_SERVICE_ACCOUNT": str(key),
        "GOOGLE_ALLOW_HTTP": "true",
    }


def write_key(path, lance_port):
    """The key of a service account: with it, a client signs its requests itself and asks nobody for a token.

    Lance speaks another API than pyarrow, that of S3. So it asks moto, at a port of this machine.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    private = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    key = {
        "type": "service_account",
        "client_email": "tests@example.com",
        "private_key_id": "1",
        "private_key": private.decode(),
        "gcs_base_url": f"http://127.0.0.1:{lance_port}",
    }
    path.write_text(json.dumps(key))
    return path
