"""Results in files. A file appears whole or not at all, and loads back equal.

================  ===============================================================
``store``         ``save_result``, ``load_result``: the format follows the suffix
``content``       what every format holds: a header, arrays, one digest
``nc_file``       NetCDF and ``xarray.Dataset``
``classic``       NetCDF in its classic form, byte by byte
``npz_file``      NumPy's ``.npz``
``csv_file``      CSV
``parquet_file``  Parquet
``mcap_file``     MCAP
``flat``          a single run as a table, for CSV and Parquet
``axes``          names, units and labels of the axes of signals
``legacy``        files of 0.1.0
================  ===============================================================
"""
