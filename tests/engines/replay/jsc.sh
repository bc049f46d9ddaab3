# Transcripts in the shell of JavaScriptCore. The shell does not know its own version, so the package manager is asked.
here=$(dirname "$0")
version=$(dpkg-query --show --showformat '${Version}' libjavascriptcoregtk-4.0-bin 2>/dev/null || echo 'of unknown version')
exec jsc -m "$here/jsc.mjs" -- "$1" "WebKitGTK $version"
