"""The judge on Apache Spark: the same kernel and the same validations, dealt out over a cluster by session.

Extra: `spark`. `session` opens Spark, `reading` makes clean turns of Parquet files, `tasks` is what a task does with
its sessions (no Spark in it), `engine` judges a log into Parquet by day, `day` a day of the warehouse.

Here does not belong: any rule. What decides a verdict is the kernel's, whichever engine runs it.
"""
