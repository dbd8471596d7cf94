"""Put the module of examples on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
