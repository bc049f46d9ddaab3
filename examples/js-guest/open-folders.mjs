// componentize-js is itself a component, and reads the WIT files through preview2-shim, which opens no folders unless it is told to: without
// this, the build ends with `os error 44`. componentize-js does not declare preview2-shim either, so package.json names both.
import { _setPreopens } from '@bytecodealliance/preview2-shim/filesystem';

_setPreopens({ '/': '/' });
