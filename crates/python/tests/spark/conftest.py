"""A Spark of this machine, whose executors are processes of their own."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame, SparkSession  # noqa: E402

TESTS = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # What is killed is chosen by what runs now.
        .config("spark.ui.liveUpdate.period", "1ms")
        .config("spark.sql.shuffle.partitions", "4")
        # Compiling takes longer here than it saves.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .config("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .config("spark.sql.codegen.wholeStage", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def table(spark: SparkSession) -> Any:
    """Makes a table of rows (id, text) in some partitions."""

    def made(
        rows: list[tuple[Any, ...]], partitions: int, types: str = "id string, text string"
    ) -> DataFrame:
        return spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), types)

    return made
