// The page of an assistant that runs in a browser, on the React hook of use-mcp. The test
// bundles it, and sets the endpoint of the MCP server.
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { onMcpAuthorization } from 'use-mcp'
import { useMcp } from 'use-mcp/react'

function Assistant() {
  const mcp = useMcp({ url: window.endpoint, clientName: 'Assistant in a browser', transportType: 'http', autoReconnect: false })
  window.mcp = mcp
  return [
    createElement('p', { key: 'state', id: mcp.state }, mcp.state, ' ', mcp.error),
    mcp.authUrl && createElement('a', { key: 'authorize', id: 'authorize', href: mcp.authUrl }, 'Authorize'),
  ]
}

if (location.pathname === '/oauth/callback') onMcpAuthorization()
else createRoot(document.getElementById('root')).render(createElement(Assistant))
