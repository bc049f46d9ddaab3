// Opens all folders to componentize-js. It is itself a component, and reads the WIT files through preview2-shim, which
// opens no folder by default: the build would end with `os error 44`. componentize-js does not declare preview2-shim as
// a dependency, so package.json names both.
import { _setPreopens } from '@bytecodealliance/preview2-shim/filesystem';

_setPreopens({ '/': '/' });
