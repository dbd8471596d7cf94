"""``python -m bestofk.cli``."""

import sys

from bestofk.cli import main

sys.exit(main())
