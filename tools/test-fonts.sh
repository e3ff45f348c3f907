#!/bin/bash
# test-fonts.sh: make the fonts of internal/systemfont/fonttest, a few characters of three fonts of Debian, and their licences.
# On Debian, with python3-fonttools; it installs nothing. The result is the same each time the packages are.
set -euo pipefail
cd "$(dirname "$0")/../internal/systemfont/fonttest/fonts"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for package in fonts-wqy-microhei fonts-noto-cjk fonts-noto-color-emoji; do
	(cd "$work" && apt-get download -qq "$package" && dpkg -x "$package"_*.deb .)
done
python3 - "$work/usr/share/fonts" <<'PYTHON'
import sys
from fontTools import subset, ttLib

folder = sys.argv[1]

def pick(path, text, face=-1):
    options = subset.Options(layout_features=[], name_IDs=[0, 13, 14], notdef_outline=False, hinting=False, recalc_timestamp=False)
    font = subset.load_font(folder + path, options, dontLoadGlyphNames=True) if face < 0 else ttLib.TTFont(folder + path, fontNumber=face)
    font.recalcTimestamp = False
    one = subset.Subsetter(options)
    one.populate(text=text)
    one.subset(font)
    return font

pick("/truetype/wqy/wqy-microhei.ttc", "中文语한국어é", 0).save("outlines.ttf")
pick("/truetype/noto/NotoColorEmoji.ttf", "🙂🚀⏰").save("emoji.ttf")
all = ttLib.TTCollection()
all.fonts = [pick("/opentype/noto/NotoSansCJK-Regular.ttc", "骨한", face) for face in (0, 1, 2, 3)]
all.save("collection.ttc")
PYTHON
{
	echo "outlines.ttf: characters of WenQuanYi Micro Hei, (c) 2008-2009 The WenQuanYi Project Board of Trustees, Qianqian Fang and"
	echo "mozbug, based on the Droid fonts, (c) 2006-2008 Google Corporation; under the Apache License 2.0, see the end of this file."
	echo
	echo "collection.ttc: characters of Noto Sans CJK, (c) 2014-2021 Adobe, with Reserved Font Name 'Source', and emoji.ttf: characters"
	echo "of Noto Color Emoji, (c) 2013-2017 Google Inc.; under this licence:"
	echo
	sed -n '/^ SIL OPEN FONT LICENSE/,/^ OTHER DEALINGS/p' "$work/usr/share/doc/fonts-noto-color-emoji/copyright" | sed 's/^ \.\?//'
	echo
	cat /usr/share/common-licenses/Apache-2.0
} >LICENSE
