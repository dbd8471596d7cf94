from .as_dataset import as_dataset as as_dataset
from .dataset import DataSet as DataSet
from .encoded import Encoded as Encoded
from .load import DATASETS as DATASETS, load as load
from .read_dataset import read_dataset as read_dataset
from .row_columns import with_row_columns as with_row_columns
from .schema import Schema as Schema
