"""How the documentation site is built: ``make docs``, or ``python -m sphinx -W docs build/site`` in the root.

Nothing is fetched, neither by the build nor by the pages: no inventories of other projects, formulas are MathML that is
written by the build, and every font, style and script comes out of an installed package.
"""

from __future__ import annotations

from topalpha import __version__

project = "topalpha"
author = "The topalpha authors"
copyright = author
version = release = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "docs._extensions.algorithms_table",
    "docs._extensions.blocks",
    "docs._extensions.formulas",
    "docs._extensions.keyboard",
    "docs._extensions.outside",
    "docs._extensions.reference",
]
exclude_patterns = ["_*", "gallery/*.ipynb", "gallery/*.py", "gallery/*.json"]
suppress_warnings = ["config.cache"]  # of sphinx-gallery: its scrapers cannot be pickled
nitpicky = True

# Pages: Markdown as a git web view shows it.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 5
myst_dmath_double_inline = True
highlight_language = "text"
math_number_all = False

# Reference: the docstrings, in NumPy's manner.
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # listed once, not again among the members
napoleon_use_param = False  # names that share a line stay together
napoleon_use_rtype = False
python_maximum_signature_line_length = 100
python_use_unqualified_type_names = True
# Types in signatures are names of other projects, or protocols that a reader need not know.
nitpick_ignore_regex = [("py:class", ".*")]

# Gallery: the scripts run in every build, for what they show may change with the package.
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "run_stale_examples": True,
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 600,
    "image_srcset": ["2x"],
    "plot_gallery": "True",
}
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

# Looks.
html_theme = "furo"
html_title = f"topalpha {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_search_summary = False  # a page opened as a file may not read others
# In the dark, words of a kind that the style leaves out have the colours of the light one: this style has them all.
pygments_dark_style = "github-dark-high-contrast"
html_theme_options = {
    "navigation_with_keys": False,
    # Pictures are drawn on white: in the dark white becomes the ground of the page, and hues stay.
    "light_css_variables": {"picture": "none", "shade": "rgb(0 0 0 / 30%)"},
    "dark_css_variables": {"picture": "invert(0.92) hue-rotate(180deg)", "shade": "rgb(255 255 255 / 40%)"},
}
