# Imports pytest before the workspace is on the path, so that no file there takes its place, bounds each test in time, and
# runs what the arguments say. The report has the id of each test, since the file and the class of an inherited one do not fit.
import os, signal, sys
seen = sys.path[:]
roots = tuple({os.path.realpath(p) + os.sep for p in (sys.prefix, sys.base_prefix, sys.exec_prefix)})
sys.path[:] = [p for p in seen if p and os.path.isabs(p) and (os.path.realpath(p) + os.sep).startswith(roots)]
import faulthandler, logging, unittest, xml.etree.ElementTree, pytest, _pytest.junitxml
sys.path[:] = [os.getcwd()] + [p for p in seen if p]
limit = int(sys.argv[1])
class Bound:
    def pytest_itemcollected(self, item):
        item.user_properties.append(("nodeid", item.nodeid))
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        def late(*_):
            pytest.fail("the test took more than %d seconds" % limit)
        signal.signal(signal.SIGALRM, late)
        signal.alarm(limit)
        yield
        signal.alarm(0)
sys.exit(pytest.main(sys.argv[2:], plugins=[Bound()]))
