# Prints where Python and its packages are.
import json, os, sys, sysconfig
try:
    import pytest
    version = pytest.__version__
except ImportError:
    version = ""
print(json.dumps({"version": "%d.%d.%d" % sys.version_info[:3], "pytest": version, "executable": sys.executable,
    "prefixes": sorted({sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix)}), "path": [p for p in sys.path if os.path.isdir(p)]}))
