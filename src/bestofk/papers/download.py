"""Files from the network: whole, checked, and with errors that say what to do."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from bestofk.errors import RunError
from bestofk.version import __version__

TIMEOUT = 60.0
MOST_BYTES = 500_000_000


def download(url: str, *, md5: str | None = None, sha256: str | None = None) -> bytes:
    """The bytes at an address; a checksum that is given must be theirs."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise RunError(f"An address must begin with http:// or https://; got {url!r}.")
    asked = Request(url, headers={"User-Agent": f"bestofk/{__version__}"})
    try:
        with urlopen(asked, timeout=TIMEOUT) as answer:
            body: bytes = answer.read(MOST_BYTES + 1)
            told = answer.headers.get("Content-Length")
    except HTTPError as refused:
        raise RunError(f"{url}: the server answered {refused.code} {refused.reason}.") from None
    except (URLError, OSError) as failed:
        reason = getattr(failed, "reason", failed)
        raise RunError(f"{url}: it could not be reached ({reason}).") from None
    if len(body) > MOST_BYTES:
        raise RunError(f"{url}: the file must be below {MOST_BYTES} bytes; it is larger.")
    if told is not None and told.isdigit() and int(told) != len(body):
        raise RunError(f"{url}: {told} bytes were announced, {len(body)} came.")
    for name, wanted in (("md5", md5), ("sha256", sha256)):
        if wanted:
            found = hashlib.new(name, body, usedforsecurity=False).hexdigest()
            if found != wanted.lower():
                raise RunError(f"{url}: the {name} sum must be {wanted}; the file has {found}.")
    return body


def download_json(url: str) -> dict[str, Any]:
    """The JSON object at an address."""
    body = download(url)
    try:
        found = json.loads(body)
    except ValueError:
        raise RunError(f"{url}: the answer must be JSON; it is not.") from None
    if not isinstance(found, dict):
        raise RunError(f"{url}: the answer must be a JSON object; it is not.")
    return found
