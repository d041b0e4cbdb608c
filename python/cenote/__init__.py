"""cenote: one store for research data, accessible through the tools that researchers use."""
