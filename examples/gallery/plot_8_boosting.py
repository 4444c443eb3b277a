"""
Boosting with stumps out of an endless pool
===========================================

``BanditAdaBoostClassifier`` finds the stump of each round by a search whose cost does not grow with the number of
rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from topalpha.sklearn import BanditAdaBoostClassifier

X, y = load_breast_cancer(return_X_y=True)
train, test, train_labels, test_labels = train_test_split(X, y, random_state=0)
model = BanditAdaBoostClassifier(n_estimators=40, random_state=0).fit(train, train_labels)
print(model.certificates_[0].statement)
print(f"test accuracy {model.score(test, test_labels):.3f}, {model.pulls_.sum():,} pulls in all")

# %%
# Later rounds look for smaller edges, and pay for them.

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 6), sharex=True, layout="constrained")
rounds = range(1, len(model.estimators_) + 1)
for rows, labels, name, line in ((train, train_labels, "training rows", "k--"), (test, test_labels, "test rows", "k-")):
    above.plot(rounds, [(said == labels).mean() for said in model.staged_predict(rows)], line, label=name)
above.set(title="Accuracy and pulls, round by round", ylabel="accuracy")
above.legend()
below.bar(rounds, model.pulls_, color="0.5", edgecolor="black", hatch="//")
below.set(xlabel="round", ylabel="pulls")
