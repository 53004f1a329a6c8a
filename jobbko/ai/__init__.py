"""Model calls: one seam, one ledger, one budget."""
