# Transcripts in the shell of JavaScriptCore, which does not know its version: the package does.
here=$(dirname "$0")
version=$(dpkg-query --show --showformat '${Version}' libjavascriptcoregtk-4.0-bin 2>/dev/null || echo 'of unknown version')
exec jsc -m "$here/jsc.mjs" -- "$1" "WebKitGTK $version"
