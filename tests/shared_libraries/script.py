# SPDX-License-Identifier: Apache-2.0
"""script.py FOLDER PLUGIN...: a job of a Python module and of plugins, which are loaded twice."""
import ctypes
import sys
import threading

sys.path.insert(0, sys.argv[1])
import shared_module  # noqa: E402

plugins = [ctypes.CDLL(file) for file in sys.argv[2:]]
again = [ctypes.CDLL(file) for file in sys.argv[2:]]
assert [each._handle for each in plugins] == [each._handle for each in again]
codes = []
# A thread of Python's own, as servers have.
thread = threading.Thread(target=lambda: codes.append(shared_module.run([each._handle for each in plugins])))
thread.start()
thread.join()
print("well" if codes == [0] else f"exit codes {codes}", flush=True)
sys.exit(codes != [0])
