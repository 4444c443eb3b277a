"""For users of scikit-learn: boosting and model search that say what they proved. Needs the extra ``sklearn``."""
