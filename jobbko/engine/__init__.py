"""The job engine: Dramatiq on Postgres."""
