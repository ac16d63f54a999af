"""Packages as the npm registry has them: what it serves of each, and what its archive holds."""

import base64
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping

NPM_HOST = "npm.example.com"
NPM_REGISTRY = f"http://{NPM_HOST}/"


def npm_package(name: str, version: str, files: Mapping[str, str], **manifest: object) -> dict[str, bytes]:
    """What is served of a package of one version: host and path -> content."""
    about = {"name": name, "version": version, **manifest}
    archive = _archive({"package.json": json.dumps(about), **files})
    place = f"{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
    told = {
        **about,
        "dist": {
            "tarball": f"{NPM_REGISTRY}{place}",
            "shasum": hashlib.sha1(archive, usedforsecurity=False).hexdigest(),
            "integrity": f"sha512-{base64.b64encode(hashlib.sha512(archive).digest()).decode()}",
        },
    }
    document = {"name": name, "dist-tags": {"latest": version}, "versions": {version: told}}
    return {f"{NPM_HOST}/{name}": json.dumps(document).encode(), f"{NPM_HOST}/{place}": archive}


def _archive(files: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(text.encode()), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(made.getvalue(), mtime=0)
