"""What people look at in order to understand: pictures, the notebook's tiles, explanations."""
