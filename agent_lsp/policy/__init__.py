"""Who may run what: modes, remembered rules, the command policy and the rules for paths."""
