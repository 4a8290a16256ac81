"""Public kernels: what the scan says of them, held against the interpreter in `ptx_oracle`."""
