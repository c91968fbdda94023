"""Our methods inside other libraries: sentence-transformers, colpali-engine and mteb."""
