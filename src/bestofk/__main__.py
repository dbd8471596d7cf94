"""``python -m bestofk``."""

import sys

from bestofk.cli import main

sys.exit(main())
