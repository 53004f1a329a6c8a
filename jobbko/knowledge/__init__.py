"""What the jobs of the knowledge graph share: passages to search by, quotations that must be there, names, prompts."""
