"""Payloads in memory, SQLite and PostgreSQL."""

import time

import pytest

from bestofk._base.errors import StoreError
from bestofk.run.store.payloads import Payload
from bestofk.run.store.store import open_store


def payload(number, data=b"data", name="losses"):
    return Payload(digest=f"{number:032x}", name=name, kind="test", data=data)


def test_data_keep_all_bits(store):
    values = {number: bytes(range(256)) * number for number in range(5)}
    store.put_payloads(payload(number, data) for number, data in values.items())
    digests = [payload(number).digest for number in (4, 0, 3, 9)]
    results = store.get_payloads(digests, name="losses")
    assert results == {payload(number).digest: values[number] for number in (4, 0, 3)}
    assert all(type(data) is bytes for data in results.values())
    assert store.n_payloads() == 5
    assert store.n_cells() == 0


def test_several_names_under_one_digest(store):
    store.put_payloads([payload(1, b"a", "first"), payload(1, b"b", "second")])
    assert store.get_payloads([payload(1).digest], name="second") == {payload(1).digest: b"b"}
    assert store.get_payloads([payload(1).digest], name="third") == {}


@pytest.mark.parametrize("flush", [True, False], ids=["stored", "waiting"])
def test_a_payload_never_changes(store, flush):
    store.put_payloads([payload(1, b"first")])
    if flush:
        store.flush()
    store.put_payloads([payload(1, b"later"), payload(2, b"new")])
    results = store.get_payloads([payload(1).digest, payload(2).digest], name="losses")
    assert list(results.values()) == [b"first", b"new"]


def test_many_and_large_payloads(lasting_url):
    with open_store(lasting_url) as store:
        store.put_payloads(payload(number, bytes([number % 251])) for number in range(3000))
        store.put_payloads([payload(5000, bytes(20 << 20))])
    with open_store(lasting_url) as store:
        results = store.get_payloads([payload(n).digest for n in range(3000)], name="losses")
        assert len(results) == 3000
        assert all(results[payload(n).digest] == bytes([n % 251]) for n in range(3000))
        assert len(store.get_payloads([payload(5000).digest], name="losses")) == 1


def test_a_payload_is_committed_within_a_second_without_another_call(lasting_url):
    with open_store(lasting_url) as writer, open_store(lasting_url) as reader:
        writer.put_payloads([payload(1)])
        deadline = time.monotonic() + 10
        while reader.n_payloads() < 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert reader.n_payloads() == 1


def test_closed_and_read_only_stores_accept_nothing(lasting_url):
    store = open_store(lasting_url)
    store.close()
    with pytest.raises(StoreError, match="The store is closed"):
        store.put_payloads([payload(1)])
    with (
        open_store(lasting_url, read_only=True) as reader,
        pytest.raises(StoreError, match="opened for reading only"),
    ):
        reader.put_payloads([payload(1)])
