"""`python -m swzverify` is the command `swzverify`."""

from swzverify.cli import main

if __name__ == "__main__":
    main(prog_name="swzverify")
