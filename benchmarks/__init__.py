"""What swzverify costs, against enumeration with numpy and other tools: `python -m benchmarks`."""
