"""Read a table or the result of a query from a database, through SQLAlchemy."""

from __future__ import annotations

from pathlib import Path

from bestofk._base.errors import TableError
from bestofk._base.files import regular_size
from bestofk.data.tables.limits import BYTES_PER_OBJECT, check_cells
from bestofk.data.tables.table import Table

_ROWS_AT_ONCE = 10_000


def read_sql(url: str, what: str) -> Table:
    """Read the table or the query `what`, which begins with select or with.

    - `url`: The SQLAlchemy URL of the database, such as ``sqlite:///scores.db``.
    """
    import pandas as pd
    from sqlalchemy import NullPool, create_engine, make_url, text
    from sqlalchemy.exc import SQLAlchemyError

    if not what:
        raise TableError(f"{url} must name a table or a query, as in '{url}#scores'.")
    source = f"{url.partition('://')[0]} {what.split()[0] if len(what) > 40 else what}"
    try:
        address = make_url(url)
        if "plugin" in address.query:
            raise TableError("The URL of a database must not name a plugin.")
        file = None
        if address.get_backend_name() == "sqlite":
            file = Path(address.database or "")
            file_size = regular_size(file)
            address = address.set(database=f"file:{file}", query={"mode": "ro", "uri": "true"})
        engine = create_engine(address, poolclass=NullPool)
        is_query = what.lower().startswith(("select ", "with "))
        name = engine.dialect.identifier_preparer.quote(what)
        with engine.connect() as connection:
            result = connection.execution_options(stream_results=True).execute(
                text(what if is_query else f"select * from {name}")
            )
            names = list(result.keys())
            rows = []
            while part := result.fetchmany(_ROWS_AT_ONCE):
                rows += [tuple(row) for row in part]
                if file is not None:
                    check_cells(
                        file.name, file_size=file_size, rows=len(rows), columns=1 + len(names),
                        bytes_per_cell=BYTES_PER_OBJECT,
                    )  # fmt: skip
    except (SQLAlchemyError, ImportError) as error:
        reason = str(getattr(error, "orig", None) or error).split("\n")[0].rstrip(".")
        raise TableError(f"{source} cannot be read: {reason}.") from None
    if not rows:
        raise TableError(f"{source}: there are no rows.")
    frame = pd.DataFrame(rows, columns=names, dtype=object)
    return Table.from_frame(frame, source=source, account="database")
