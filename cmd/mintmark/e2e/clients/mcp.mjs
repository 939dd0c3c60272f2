// An MCP client on one of the SDKs for TypeScript: the library of args. It keeps what it
// learned in a file, as an assistant does between two starts, and calls tools.
import { readFileSync, writeFileSync } from 'node:fs'
import { args, run, visit } from './talk.mjs'

const modules = {
  '@modelcontextprotocol/sdk': ['@modelcontextprotocol/sdk/client/index.js', '@modelcontextprotocol/sdk/client/streamableHttp.js', '@modelcontextprotocol/sdk/client/auth.js'],
  '@modelcontextprotocol/client': ['@modelcontextprotocol/client'],
}[args.library]
const sdk = Object.assign({}, ...(await Promise.all(modules.map((name) => import(name)))))

let kept = {}
try {
  kept = JSON.parse(readFileSync(args.file, 'utf8'))
} catch (err) {
  if (err.code !== 'ENOENT') throw err
}
const keep = (name) => (value) => {
  kept[name] = value
  writeFileSync(args.file, JSON.stringify(kept), { mode: 0o600 })
}
if (args.expired) kept.tokens.access_token = 'an-access-token-of-yesterday'

let asked // the authorization URL that the user was sent to

const provider = {
  redirectUrl: args.redirectURI,
  clientMetadataUrl: args.document,
  clientMetadata: {
    client_name: 'Assistant',
    redirect_uris: [args.redirectURI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  state: () => 'a state',
  clientInformation: () => kept.client,
  saveClientInformation: keep('client'),
  tokens: () => kept.tokens,
  saveTokens: keep('tokens'),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: keep('verifier'),
  redirectToAuthorization: (url) => {
    asked = url
  },
  invalidateCredentials: (kind) => {
    if (kind === 'all') keep('client')(undefined)
    keep('tokens')(undefined)
  },
}

let challenge // of the last 403

async function watch(...request) {
  const response = await fetch(...request)
  if (response.status === 403) challenge = sdk.extractWWWAuthenticateParams(response)
  return response
}

const visits = [] // the scopes that the client asked for
let refused

// finish has the user decide, and redeems the code.
async function finish(transport) {
  visits.push(asked.searchParams.get('scope'))
  if (args.decision === 'cancel') {
    refused = 'the user is asked'
    throw new Error(refused)
  }
  const back = (await visit(asked)).searchParams
  if (back.get('state') !== 'a state' || !back.get('code')) throw new Error('the answer is ' + back)
  await transport.finishAuth(args.library.endsWith('/sdk') ? back.get('code') : back)
}

// attempt does something with a connected client. It connects again after the user has
// allowed what was missing.
async function attempt(something) {
  for (let tries = 0; ; tries++) {
    const transport = new sdk.StreamableHTTPClientTransport(new URL(args.endpoint), { authProvider: provider, fetch: watch })
    const client = new sdk.Client({ name: 'assistant', version: '1' })
    try {
      await client.connect(transport)
      return await something(client)
    } catch (err) {
      if (tries === 2) throw err
      if (err instanceof sdk.UnauthorizedError) {
        await finish(transport)
      } else if (args.library.endsWith('/sdk') && err.code === 403) {
        // On a 403 this SDK only refreshes, which adds no scope, so the application drops
        // its tokens and authorizes again.
        provider.invalidateCredentials('tokens')
        await sdk.auth(provider, { serverUrl: args.endpoint, scope: challenge.scope })
        await finish(transport)
      } else {
        throw err
      }
    } finally {
      await client.close()
    }
  }
}

await run(async () => {
  const answers = []
  try {
    for (const call of args.calls) {
      const answer = await attempt((client) => client.callTool(call))
      answers.push({ text: answer.content[0].text, failed: answer.isError ?? false })
    }
  } catch (err) {
    if (!refused) throw err
  }
  return { answers, visits, refused, client: kept.client?.client_id, access: kept.tokens?.access_token, refresh: kept.tokens?.refresh_token, scope: kept.tokens?.scope }
})
