"""Python imports this module at its start, if this folder is in `PYTHONPATH`."""

import forks

forks.install()
