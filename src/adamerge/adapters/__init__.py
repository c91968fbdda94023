"""Our methods inside other people's programs: sentence_transformers.py and colpali_engine.py."""
