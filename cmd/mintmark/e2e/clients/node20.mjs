// Loaded before the conformance package, which imports a function of Node.js 22 that its
// authorization command does not use.
import { register } from 'node:module'

const script = (text) => 'data:text/javascript,' + encodeURIComponent(text)
const fs = script(`export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = undefined`)
register(script(`export const resolve = (name, context, next) =>
  name === 'fs' ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context)`))
