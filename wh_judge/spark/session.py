"""Opens Spark, and says in one line what keeps it from working."""

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from wh_judge.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH_ROWS = 20_000
"""Rows that a task holds at a time, if the session was opened here."""
LOOPBACK = "127.0.0.1"


def check_installed() -> None:
    """Raise a UserError where the extra or Java is missing."""
    if find_spec("pyspark") is None:
        raise UserError("the engine spark is not installed; install it with: pip install 'wh-judge[spark]'")
    home = os.environ.get("JAVA_HOME")
    if home and not Path(home, "bin", "java").is_file():
        raise UserError(f"JAVA_HOME: {home} holds no bin/java; name a Java 17 or newer, or unset the variable")
    if not home and shutil.which("java") is None:
        raise UserError(
            "the engine spark needs Java 17 or newer, and there is no java here; on Debian: apt-get install"
            " openjdk-17-jre-headless"
        )


def open_session(master: str) -> "SparkSession":
    """This process's session; it ends with the process.

    With a master `local[…]` nothing listens but on 127.0.0.1, and there is no Spark UI. A cluster is as it is set up.
    """
    check_installed()
    from pyspark.conf import SparkConf
    from pyspark.sql import SparkSession

    # A driver that uses pandas itself would have to heed this; here Arrow tables go in and come out.
    warnings.filterwarnings("ignore", category=FutureWarning, message="PySpark does not yet fully support pandas")
    conf = SparkConf().setAppName("wh-judge").setMaster(master)
    conf.set("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
    # All results of a day of the warehouse come back to this process.
    conf.set("spark.driver.maxResultSize", "0")
    if master.startswith("local"):
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
        conf.set("spark.driver.host", LOOPBACK).set("spark.driver.bindAddress", LOOPBACK)
        conf.set("spark.ui.enabled", "false")
        quiet = Path(__file__).with_name("log4j2.properties")
        conf.set("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={quiet.as_uri()}")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        with spark_errors():
            session = SparkSession.builder.config(conf=conf).getOrCreate()
    except UserError as error:
        raise UserError(f"{master}: Spark does not start with this master: {error}") from error
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.caseSensitive", "true")
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH_ROWS))
    if master.startswith("local"):
        # Spark's 200 are meant for a cluster; each costs a task as much as a few thousand turns.
        session.conf.set("spark.sql.shuffle.partitions", str(2 * session.sparkContext.defaultParallelism))
    return session


@contextmanager
def spark_errors() -> Iterator[None]:
    """What Spark says of its inputs and outputs as a UserError. An error of our own code stays what it is."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException, PythonException

    try:
        yield
    except PythonException:
        raise
    except (PySparkException, Py4JJavaError) as error:
        said = error.java_exception.toString() if isinstance(error, Py4JJavaError) else str(error)
        first = next((line.strip() for line in said.splitlines() if line.strip()), type(error).__name__)
        advice = next((f"; {advice}" for sign, advice in _ADVICE.items() if sign in first), "")
        raise UserError(f"Spark: {first}{advice}") from error
    except (Py4JError, ConnectionError) as error:
        raise UserError("Spark: its Java has ended; where it does not say above why, look for memory") from error


_ADVICE = {
    "TIMESTAMP(NANOS": "write times in microseconds, or use --engine local",
    "JAVA_GATEWAY_EXITED": "Java says above why; it must be 17 or newer, and the master one that Spark knows",
    "S3AFileSystem not found": "put hadoop-aws, of the version of Spark's Hadoop, among its jars",
}
"""What to do, by what stands in the error."""
