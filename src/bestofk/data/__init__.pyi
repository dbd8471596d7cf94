from .dataset import DataSet as DataSet
from .embedded import DATASETS as DATASETS
from .reading import read_data as read_data
from .row_columns import with_row_columns as with_row_columns
from .schema import Encoded as Encoded, Schema as Schema
