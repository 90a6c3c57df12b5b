--- The plugin's highlight groups, linked to the colour scheme's own. A scheme or a user may set them otherwise.

local M = {}

M.groups = {
  AzimuthUser = "Title",
  AzimuthAgent = "Function",
  AzimuthRule = "NonText",
  AzimuthDim = "Comment",
  AzimuthRunning = "DiagnosticInfo",
  AzimuthAsk = "DiagnosticWarn",
  AzimuthOutside = "DiagnosticError",
  AzimuthBypass = "ErrorMsg",
  AzimuthDone = "DiagnosticOk",
  AzimuthFailed = "DiagnosticError",
  AzimuthWarning = "DiagnosticWarn",
  AzimuthKey = "Special",
  AzimuthHint = "NonText",
  AzimuthGhost = "Comment",
  AzimuthFound = "IncSearch",
}

function M.set()
  for group, link in pairs(M.groups) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
end

M.set()
vim.api.nvim_create_autocmd("ColorScheme", {
  group = vim.api.nvim_create_augroup("azimuth.highlights", { clear = true }),
  callback = M.set,
})

return M
