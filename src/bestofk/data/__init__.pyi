from .dataset import DataSet as DataSet, with_row_columns as with_row_columns
from .embedded import DATASETS as DATASETS
from .reading import read_data as read_data
from .schema import Encoded as Encoded, Schema as Schema
