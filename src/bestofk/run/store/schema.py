"""The tables of a store, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator, UserDefinedType

APPLICATION_ID = 0x424F464B
"""The letters BOFK, in the header of an SQLite file."""
SCHEMA_VERSION = 3


class Float8(UserDefinedType[float]):
    """A float that keeps all its bits.

    SQLite stores whole numbers in a REAL column as integers and loses the sign of -0.0. A column
    without a type keeps the eight bytes.
    """

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return ""


def escaped(text: str) -> str:
    """Return any text as ASCII, which servers of all encodings accept."""
    return text.encode("unicode_escape").decode("ascii")


def unescaped(text: str) -> str:
    """Undo `escaped`; return text that it did not write unchanged."""
    if "\\" not in text:
        return text
    try:
        return text.encode("ascii").decode("unicode_escape")
    except UnicodeError:
        return text


class AnyText(TypeDecorator[str]):
    """Text with any characters (NUL, lone surrogates), escaped to ASCII."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else escaped(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else unescaped(value)


def _float8() -> sa.types.TypeEngine[float]:
    return Float8().with_variant(sa.Double(), "postgresql")


metadata = sa.MetaData()

meta = sa.Table(
    "bestofk_meta",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

studies = sa.Table(
    "bestofk_studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("digest", sa.Text, nullable=False, unique=True),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("title", AnyText, nullable=False),
    sa.Column("specification", sa.Text, nullable=False),
)

cells = sa.Table(
    "bestofk_cells",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("dataset", sa.Text, nullable=False),
    sa.Column("learner", sa.Text, nullable=False),
    sa.Column("splits", sa.Text, nullable=False),
    sa.Column("loss_name", AnyText, nullable=False),
    sa.Column("run", sa.Integer, nullable=False),
    sa.Column("fold", sa.Integer, nullable=False),
    sa.Column("repetition", sa.Integer, nullable=False),
    sa.Column("loss", _float8()),
    sa.Column("failure_kind", sa.Text),
    sa.Column("failure_reason", AnyText),
    sa.Column("fit_time", _float8()),
    sa.Column("predict_time", _float8()),
    sa.Column("size", sa.BigInteger),
    sa.Column("n_train", sa.BigInteger),
    sa.Column("n_test", sa.BigInteger),
    sa.Column("written", sa.Text, nullable=False),
    sa.Column("warnings", sa.Text),
    sa.Column("predictions", sa.LargeBinary),
    sa.Column("checksum", sa.BigInteger),
    sa.Column("predictions_checksum", sa.BigInteger),
    sa.Index("bestofk_cells_by_learner", "learner"),
)

payloads = sa.Table(
    "bestofk_payloads",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("written", sa.Text, nullable=False),
    sa.Column("checksum", sa.BigInteger),
)

claims = sa.Table(
    "bestofk_claims",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("claimer", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
"""Cells and payloads that processes work on."""

claimers = sa.Table(
    "bestofk_claimers",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("process", sa.Text, nullable=False),
    sa.Column("beat", sa.BigInteger, nullable=False),
)
"""Processes at work, with their heartbeat counts."""
