#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiles a locale with a decimal comma into a directory of its own and runs the program under it.
# usage: locale.sh PROGRAM
locales=$AIST_EMBED_WORK/locales
mkdir -p "$locales"
command -v localedef >/dev/null || { echo "skipped: localedef is not installed: apt-get install locales"; exit 77; }
localedef -i de_DE -f UTF-8 "$locales/de_DE.UTF-8" 2>/dev/null
[ -d "$locales/de_DE.UTF-8" ] || { echo "skipped: localedef could not make de_DE.UTF-8: apt-get install locales"; exit 77; }
unset LC_ALL LANG
LOCPATH=$locales exec "$1" de_DE.UTF-8
