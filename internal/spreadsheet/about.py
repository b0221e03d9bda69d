"""Prints the versions of an interpreter, and what it needs to read, as JSON."""
import json
import os
import platform
import sys

import openpyxl
import pandas

parts = [os.path.join(p, part) for p in {sys.prefix, sys.base_prefix} for part in ("bin", "lib", "lib64", "pyvenv.cfg")]
print(json.dumps({
    "python": platform.python_version(),
    "openpyxl": openpyxl.__version__,
    "pandas": pandas.__version__,
    "read": [p for p in parts + sys.path if p and os.path.exists(p)],
}))
