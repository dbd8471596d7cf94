from .reading import read_table as read_table
from .table import Table as Table
