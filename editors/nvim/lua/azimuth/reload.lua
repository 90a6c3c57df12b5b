--- Documents that a command has changed on disk are read again, as 'autoread' does when the user comes back to the
--- editor. One with unsaved text is left to the user, as Neovim would ask what to do.

local client = require("azimuth.client")
local documents = require("azimuth.lang.documents")

client.on("filesChanged", function(_, event)
  for _, file in ipairs(event.files) do
    local bufnr = (file.after or file.unknown) and documents.open(file.uri)
    local own = bufnr and vim.bo[bufnr].autoread
    -- A buffer that says nothing of it does as the editor does.
    if bufnr and not vim.bo[bufnr].modified and (own or own == nil and vim.go.autoread) then
      vim.cmd.checktime(bufnr)
    end
  end
end)
