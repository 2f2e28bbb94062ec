"""The API, asked what its own OpenAPI document says one may ask, and what it says one may not."""
