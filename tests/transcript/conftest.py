"""Put the modules with the cases of the transcript on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
