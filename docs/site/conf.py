# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx for the site of the documents, which `make docs` builds from what tools/site_pages.py writes."""
import os

project = "Nacre"
version = release = os.environ.get("NACRE_VERSION", "")
html_title = f"Nacre {version}".strip()
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_heading_anchors = 6
myst_links_external_new_tab = False
# Blocks of output, which no lexer knows; docs/options.md, whose table of contents has one level.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
highlight_language = "none"

html_theme = "furo"
html_static_path = ["static"]
templates_path = ["templates"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_sidebars = {"**": ["sidebar/brand.html", "sidebar/search.html", "sidebar/scroll-start.html", "sidebar/navigation.html",
                        "reference_link.html", "sidebar/scroll-end.html"]}
html_context = {"has_reference": os.environ.get("NACRE_REFERENCE") == "yes"}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
