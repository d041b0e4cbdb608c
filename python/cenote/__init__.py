"""cenote: one store for what researchers keep, opened through the tools they already use."""
